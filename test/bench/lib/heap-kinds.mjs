// What a page's heap is made of: a snapshot of it, added up by kind. Its own figure for the whole tells code that the engine has
// compiled since from things that are kept.

/** Kinds of V8's own: compiled code, its feedback, and the shapes of objects. Bounded by the program, not by what goes through it. */
const CODE_KINDS = new Set(["code", "object shape"]);
/** Named so, and yet a part of an object. */
const OF_OBJECTS = new Set(["system / PropertyArray", "system / JSArrayBufferData"]);
/** Texts outside of the heap: file names, the program's own source. */
const OUTSIDE = "system / ExternalStringData";

export async function heapKinds(cdp) {
  const chunks = [];
  const onChunk = ({ chunk }) => chunks.push(chunk);
  cdp.on("HeapProfiler.addHeapSnapshotChunk", onChunk);
  try {
    await cdp.send("HeapProfiler.takeHeapSnapshot", { reportProgress: false });
  } finally {
    cdp.off("HeapProfiler.addHeapSnapshotChunk", onChunk);
  }
  return kindsOf(JSON.parse(chunks.join("")));
}

/** Bytes by kind. The page's elements and styles are not on this heap. */
export function kindsOf({ snapshot, nodes, strings }) {
  const { node_fields: fields, node_types: types } = snapshot.meta;
  const [typeAt, nameAt, sizeAt] = ["type", "name", "self_size"].map((name) => fields.indexOf(name));
  const kinds = { code: 0, strings: 0, records: 0 };
  for (let at = 0; at < nodes.length; at += fields.length) {
    const kind = kindOf(types[typeAt][nodes[at + typeAt]], strings[nodes[at + nameAt]]);
    if (kind !== undefined) kinds[kind] += nodes[at + sizeAt];
  }
  return kinds;
}

function kindOf(type, name) {
  if (CODE_KINDS.has(type)) return "code";
  if (type.endsWith("string")) return "strings";
  if (type !== "native") return type === "synthetic" ? undefined : "records";
  if (!name.startsWith("system / ") || name === OUTSIDE) return undefined;
  return OF_OBJECTS.has(name) ? "records" : "code";
}
