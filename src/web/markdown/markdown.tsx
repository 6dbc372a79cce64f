/** Shows Markdown of an agent. Raw HTML is text like any other; links and images do nothing until a person says so. */
import type { Token, Tokens } from "marked";
import { memo, type ReactElement, type ReactNode, useRef } from "react";
import { CodeBlock } from "./code-block.tsx";
import { Inline } from "./inline.tsx";
import { BlockLexer } from "./lex.ts";
import "./markdown.css";

export function Markdown({ text }: { readonly text: string }): ReactElement {
  const lexer = useRef<BlockLexer>(undefined);
  lexer.current ??= new BlockLexer();
  const blocks = lexer.current.lex(text);
  return (
    <div className="markdown" dir="auto">
      {blocks.map((token, index) => (
        // Frozen blocks keep their index; the last one is the only one that changes.
        // biome-ignore lint/suspicious/noArrayIndexKey: see above
        <Block key={index} token={token} raw={token.raw} />
      ))}
    </div>
  );
}

/** Compared by source text: tokens are new objects with each lexing. */
const Block = memo(
  ({ token }: { readonly token: Token; readonly raw: string }): ReactNode => renderBlock(token),
  (before, after) => before.raw === after.raw && before.token.type === after.token.type,
);

function renderBlock(token: Token): ReactNode {
  switch (token.type) {
    case "space":
    case "def":
      return null;
    case "hr":
      return <hr />;
    case "heading":
      return heading(token as Tokens.Heading);
    case "code":
      return <CodeBlock text={(token as Tokens.Code).text} language={(token as Tokens.Code).lang ?? ""} />;
    case "blockquote":
      return <blockquote>{renderBlocks((token as Tokens.Blockquote).tokens)}</blockquote>;
    case "list":
      return list(token as Tokens.List);
    case "table":
      return table(token as Tokens.Table);
    case "paragraph":
      return (
        <p>
          <Inline tokens={(token as Tokens.Paragraph).tokens} />
        </p>
      );
    case "text": {
      const { tokens, text } = token as Tokens.Text;
      return tokens === undefined ? text : <Inline tokens={tokens} />;
    }
    default:
      return <p>{token.raw}</p>;
  }
}

const renderBlocks = (tokens: readonly Token[]): ReactNode =>
  // biome-ignore lint/suspicious/noArrayIndexKey: blocks of one token never move
  tokens.map((token, index) => <Block key={index} token={token} raw={token.raw} />);

/** A message is not a page: its headings start below those of the app. */
function heading({ depth, tokens }: Tokens.Heading): ReactNode {
  return (
    // biome-ignore lint/a11y/useSemanticElements: the level is only known here, and above six there is no element
    <div className={`heading h${Math.min(depth, 4)}`} role="heading" aria-level={Math.min(depth + 2, 6)}>
      <Inline tokens={tokens} />
    </div>
  );
}

function list({ ordered, start, items }: Tokens.List): ReactNode {
  const children = items.map((item, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: list items of one token never move
    <li key={index} className={item.task ? "task" : undefined}>
      {item.task && <input type="checkbox" checked={item.checked === true} readOnly disabled aria-label="Done" />}
      {renderBlocks(item.tokens.filter((token) => token.type !== "checkbox"))}
    </li>
  ));
  return ordered ? <ol start={start === "" ? 1 : start}>{children}</ol> : <ul>{children}</ul>;
}

function table({ header, rows }: Tokens.Table): ReactNode {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a wide table scrolls sideways, by keyboard too
    // biome-ignore lint/a11y/useSemanticElements: as a section each table would be a landmark of the page
    <div className="table-scroll" role="group" tabIndex={0} aria-label="Table">
      <table>
        <thead>
          <tr>{header.map((cell, index) => tableCell("th", cell, index))}</tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: rows of one token never move
            <tr key={index}>{row.map((cell, column) => tableCell("td", cell, column))}</tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function tableCell(Cell: "th" | "td", cell: Tokens.TableCell, key: number): ReactNode {
  return (
    <Cell key={key} className={cell.align === null ? undefined : `align-${cell.align}`}>
      <Inline tokens={cell.tokens} />
    </Cell>
  );
}
