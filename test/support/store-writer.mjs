/** Writes a journal until it is killed, and says after each commit what is durable. Run as a child of its own. */
import { epoch } from "../../src/protocol/ids.ts";
import { openStore } from "../../src/store/open-store.ts";
import { chunk, keyOf } from "./store-samples.ts";

const { store } = openStore({
  path: process.argv[2] ?? "",
  onError: (error) => console.error(error),
  onDurable: (marks) => console.log(marks[0]?.last ?? 0),
});

let seq = 0;
setInterval(() => {
  for (let n = 0; n < 40; n++) store.journal.append(keyOf("a"), epoch("e1"), [chunk(++seq, `${seq} `)]);
}, 2);
