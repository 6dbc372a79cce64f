/** Inline Markdown. */
import type { Token, Tokens } from "marked";
import type { ReactElement, ReactNode } from "react";
import { Icon } from "../ui/icon.tsx";
import { useOpenLink } from "./link-dialog.tsx";

export function Inline({ tokens }: { readonly tokens: readonly Token[] }): ReactNode {
  // biome-ignore lint/suspicious/noArrayIndexKey: tokens of one text never move
  return tokens.map((token, index) => <Span key={index} token={token} />);
}

function Span({ token }: { readonly token: Token }): ReactNode {
  switch (token.type) {
    case "strong":
      return (
        <strong>
          <Inline tokens={(token as Tokens.Strong).tokens} />
        </strong>
      );
    case "em":
      return (
        <em>
          <Inline tokens={(token as Tokens.Em).tokens} />
        </em>
      );
    case "del":
      return (
        <del>
          <Inline tokens={(token as Tokens.Del).tokens} />
        </del>
      );
    case "codespan":
      return <code>{(token as Tokens.Codespan).text}</code>;
    case "br":
      return <br />;
    case "link":
      return <Link token={token as Tokens.Link} />;
    case "image":
      return <ImagePlace token={token as Tokens.Image} />;
    case "escape":
      return (token as Tokens.Escape).text;
    case "text": {
      const { tokens, text } = token as Tokens.Text;
      return tokens === undefined ? unescaped(text) : <Inline tokens={tokens} />;
    }
    default:
      // Raw HTML and whatever a later marked may know: as it was written.
      return token.raw;
  }
}

function Link({ token }: { readonly token: Tokens.Link }): ReactElement {
  const openLink = useOpenLink();
  return (
    <button type="button" className="link" onClick={() => openLink(token.href)} title={token.href}>
      <Inline tokens={token.tokens} />
    </button>
  );
}

/** Loading an image tells its host that someone reads; the page's policy forbids it anyway. */
function ImagePlace({ token }: { readonly token: Tokens.Image }): ReactElement {
  const openLink = useOpenLink();
  return (
    <button type="button" className="link image-place" onClick={() => openLink(token.href)}>
      <Icon name="image" small /> {token.text === "" ? "Image" : token.text}
    </button>
  );
}

const ENTITIES = new Map([
  ["&amp;", "&"],
  ["&lt;", "<"],
  ["&gt;", ">"],
  ["&quot;", '"'],
  ["&#39;", "'"],
]);

/** The lexer leaves entities in text for an HTML renderer; here they are read. */
const unescaped = (text: string): string =>
  text.replace(/&(?:amp|lt|gt|quot|#39);/g, (entity) => ENTITIES.get(entity) ?? entity);
