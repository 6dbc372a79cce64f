/** An image file → a content block an agent takes, scaled so that a photo of 12 megapixels is not sent as one. */
import type { JsonObject } from "../../protocol/json.ts";

/** The longer edge models look at; more costs the person's data and nothing is gained. */
const EDGE_MAX = 1568;

/** Small enough already: sent as it is. */
const BYTES_AS_IS = 700_000;

const AS_IS = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);

export async function imageBlock(file: Blob): Promise<JsonObject> {
  if (AS_IS.has(file.type) && file.size <= BYTES_AS_IS) return block(file, file.type);
  const bitmap = await createImageBitmap(file);
  const scale = Math.min(1, EDGE_MAX / Math.max(bitmap.width, bitmap.height));
  const canvas = document.createElement("canvas");
  canvas.width = Math.max(1, Math.round(bitmap.width * scale));
  canvas.height = Math.max(1, Math.round(bitmap.height * scale));
  canvas.getContext("2d")?.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  bitmap.close();
  const scaled = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, "image/jpeg", 0.86));
  if (scaled === null) throw new Error("The image could not be read");
  return block(scaled, "image/jpeg");
}

async function block(blob: Blob, mimeType: string): Promise<JsonObject> {
  return { type: "image", mimeType, data: await base64(blob) };
}

function base64(blob: Blob): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result).replace(/^data:[^,]*,/, ""));
    reader.onerror = () => reject(reader.error ?? new Error("The file could not be read"));
    reader.readAsDataURL(blob);
  });
}
