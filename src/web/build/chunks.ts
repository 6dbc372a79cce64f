/**
 * Which file a module of the first load is put into. Few files, for a browser has six connections to a host: what runs first,
 * React, what talks to the hub, what draws. What is fetched later is split by where it is asked for.
 */
import type { Rollup } from "vite";

type ModuleInfo = (id: string) => Pick<Rollup.ModuleInfo, "importers"> | null;

/** Each with the module that brings in the rest of it; a module that several need belongs to the first of them. */
const FILES: readonly (readonly [name: string, root: RegExp])[] = [
  ["core", /\/web\/app\/start\.ts$/],
  ["screens", /\/web\/app\/mount\.tsx$/],
];

const ENTRY = /\/web\/main\.ts$/;
const REACT = /node_modules\/(?:react|react-dom|scheduler)\/|\/web\/app\/react-root\.ts$/;

export function chunkOf(id: string, moduleInfo: ModuleInfo): string | null {
  if (REACT.test(id)) return "react";
  // Left to the bundler, which keeps it in the entry itself.
  if (isBroughtBy(id, ENTRY, moduleInfo, new Set())) return null;
  return FILES.find(([, root]) => isBroughtBy(id, root, moduleInfo, new Set()))?.[0] ?? null;
}

/** By imports that are not asked for later. */
function isBroughtBy(id: string, root: RegExp, moduleInfo: ModuleInfo, seen: Set<string>): boolean {
  if (root.test(id)) return true;
  if (seen.has(id)) return false;
  seen.add(id);
  return moduleInfo(id)?.importers.some((importer) => isBroughtBy(importer, root, moduleInfo, seen)) === true;
}
