/** An interaction as the mirror holds it: the request, its copies at clients, the proposal on its way (R3). Data. */

import type { SettledNotice } from "../../protocol/hub-methods.ts";
import type { InteractionId, SessionId } from "../../protocol/ids.ts";
import type { JsonObject } from "../../protocol/json.ts";
import type { By } from "../../protocol/meta.ts";
import type { AnswerBody } from "../interaction/answer.ts";
import type { DowngradeRun } from "../interaction/downgrade.ts";
import type { UrlOwner } from "../interaction/url-owner.ts";
import type { Connection } from "./connection.ts";

/** One client's copy: a request under an id of ours, or a row of them where the client has no forms (X8). */
export interface Copy<Encoded> {
  readonly connection: Connection<Encoded>;
  readonly run: DowngradeRun | undefined;
  /** The id of the request the client holds now; undefined once it has answered. */
  id: number | undefined;
}

export type Verdict =
  | { readonly kind: "settled"; readonly notice: SettledNotice }
  | { readonly kind: "rejected"; readonly reason: string };

export interface Proposal {
  readonly by: By;
  readonly body: AnswerBody;
  readonly onVerdict: ((verdict: Verdict) => void) | undefined;
}

export interface MirrorAsk<Encoded> {
  readonly interactionId: InteractionId;
  readonly method: string;
  readonly params: JsonObject;
  readonly openedAt: number;
  /** By id: the copy of a session may be begun anew while the question stays open. */
  readonly sessionId: SessionId | undefined;
  readonly onlyConnection: string | undefined;
  /** Whose a url elicitation is (X12). */
  readonly owner: UrlOwner | undefined;
  readonly copies: Map<Connection<Encoded>, Copy<Encoded>>;
  /** The first valid answer, sent up; later ones queue behind it (R3). */
  readonly proposals: Proposal[];
  /** How many open copies the root was last told of, on this link; the first count is told whatever it is (X3). */
  reportedCopies: number | undefined;
}

export interface OpenAskView {
  readonly interactionId: InteractionId;
  readonly sessionId: string | undefined;
  readonly method: string;
  readonly params: JsonObject;
  readonly openedAt: number;
  /** Set for a url elicitation: nobody else may be shown it (`isFor`). */
  readonly owner: UrlOwner | undefined;
}
