/**
 * Puts one property into a settings file people edit by hand: every byte that is not about it stays, comments, trailing commas and
 * odd indentation included. (jsonc-parser's own `modify` reformats the neighbours.)
 */
import {
  createScanner,
  findNodeAtLocation,
  type Node,
  type ParseError,
  parseTree,
  type SyntaxKind,
} from "jsonc-parser";

export type JsonValue = string | number | boolean | null | readonly JsonValue[] | { readonly [key: string]: JsonValue };

/** jsonc-parser's own names are a const enum, which is not there when modules are compiled one by one. */
const COMMA: SyntaxKind = 5;
const END: SyntaxKind = 17;

/** The file is not JSON with comments, or something else stands where an object must. */
export class SettingsError extends Error {}

interface Style {
  readonly unit: string;
  readonly eol: string;
}

/** Sets `outer.name` to `value`. An empty text counts as `{}`. */
export function setProperty(text: string, [outer, name]: readonly [string, string], value: JsonValue): string {
  if (isEmpty(text)) {
    const style = styleOf(text, undefined);
    const body = property(name, value, style, style.unit.repeat(2));
    const head = text === "" || text.endsWith("\n") ? text : `${text}${style.eol}`;
    return `${head}{${style.eol}${style.unit}${JSON.stringify(outer)}: {${style.eol}${body}${style.eol}${style.unit}}${style.eol}}${style.eol}`;
  }
  const root = parse(text);
  const style = styleOf(text, root);
  const existing = findNodeAtLocation(root, [outer, name]);
  if (existing !== undefined) {
    return splice(text, existing.offset, existing.length, pretty(value, style, indentAt(text, existing.offset)));
  }
  const holder = findNodeAtLocation(root, [outer]);
  if (holder === undefined) return append(text, root, outer, { [name]: value }, style);
  if (holder.type !== "object") throw new SettingsError(`"${outer}" is not an object in this file`);
  return append(text, holder, name, value, style);
}

/** Takes `outer.name` out again; `outer` too when nothing else is in it. Text without it comes back as it is. */
export function removeProperty(text: string, [outer, name]: readonly [string, string]): string {
  if (isEmpty(text)) return text;
  const root = parse(text);
  const holder = findNodeAtLocation(root, [outer]);
  const value = findNodeAtLocation(root, [outer, name]);
  if (holder === undefined || value?.parent === undefined) return text;
  const isLast = holder.children?.length === 1;
  const target = isLast && holder.parent?.type === "property" ? holder.parent : value.parent;
  return cut(text, target);
}

function parse(text: string): Node {
  const errors: ParseError[] = [];
  const root = parseTree(text, errors, { allowTrailingComma: true });
  if (root === undefined || errors.length > 0) {
    const line = text.slice(0, errors[0]?.offset ?? 0).split("\n").length;
    throw new SettingsError(`it is not valid JSON (line ${line})`);
  }
  if (root.type !== "object") throw new SettingsError("it is not a JSON object");
  return root;
}

function append(text: string, object: Node, name: string, value: JsonValue, style: Style): string {
  const close = object.offset + object.length - 1;
  const last = object.children?.at(-1);
  const first = object.children?.[0];
  const outerIndent = indentAt(text, object.offset);
  const isSpread = first !== undefined && text.slice(object.offset, first.offset).includes("\n");
  const indent = isSpread ? indentAt(text, first.offset) : outerIndent + style.unit;
  const comma = last === undefined ? undefined : commaAfter(text, last);
  // After the last word or comment in the object, so that a comment stays with the line it is about.
  const end = text.slice(0, close).trimEnd().length;
  const body = property(name, value, style, indent) + (comma === undefined ? "" : ",");
  const tail = text.slice(end, close).includes("\n") ? text.slice(end, close) : style.eol + outerIndent;
  const after = `${style.eol}${body}${tail}${text.slice(close)}`;
  if (last === undefined || comma !== undefined) return text.slice(0, end) + after;
  const lastEnd = last.offset + last.length;
  return `${text.slice(0, lastEnd)},${text.slice(lastEnd, end)}${after}`;
}

/** Removes a property with its line and one comma. */
function cut(text: string, node: Node): string {
  const comma = commaAfter(text, node);
  let from = node.offset;
  let to = comma === undefined ? node.offset + node.length : comma + 1;
  const siblings = node.parent?.children ?? [];
  const previous = siblings[siblings.indexOf(node) - 1];
  const before = /[ \t]*$/.exec(text.slice(0, from))?.[0].length ?? 0;
  const rest = /^[ \t]*(\r?\n)?/.exec(text.slice(to))?.[0] ?? "";
  if (text[from - before - 1] === "\n" && rest.includes("\n")) {
    from -= before;
    to += rest.length;
  }
  const shorter = splice(text, from, to - from, "");
  if (comma !== undefined || previous === undefined) return shorter;
  const previousComma = commaAfter(text, previous);
  return previousComma === undefined ? shorter : splice(shorter, previousComma, 1, "");
}

/** Where the comma after a node is, comments in between passed over. */
function commaAfter(text: string, node: Node): number | undefined {
  const scanner = createScanner(text, true);
  scanner.setPosition(node.offset + node.length);
  return scanner.scan() === COMMA ? scanner.getTokenOffset() : undefined;
}

const property = (name: string, value: JsonValue, style: Style, indent: string): string =>
  `${indent}${JSON.stringify(name)}: ${pretty(value, style, indent)}`;

const pretty = (value: JsonValue, { unit, eol }: Style, indent: string): string =>
  JSON.stringify(value, undefined, unit).replaceAll("\n", `${eol}${indent}`);

const splice = (text: string, offset: number, length: number, by: string): string =>
  text.slice(0, offset) + by + text.slice(offset + length);

const indentAt = (text: string, offset: number): string =>
  /^[ \t]*/.exec(text.slice(text.lastIndexOf("\n", offset - 1) + 1))?.[0] ?? "";

function styleOf(text: string, root: Node | undefined): Style {
  const first = root?.children?.[0];
  const indent = first === undefined ? "" : indentAt(text, first.offset);
  return { unit: indent === "" ? "  " : indent, eol: text.includes("\r\n") ? "\r\n" : "\n" };
}

/** True when there is nothing but space and comments. */
const isEmpty = (text: string): boolean => createScanner(text, true).scan() === END;
