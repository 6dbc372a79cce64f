/** Images chosen, photographed or pasted, waiting to go with the next message. */
import { useCallback, useState } from "react";
import type { JsonObject } from "../../protocol/json.ts";

const IMAGES_MAX = 8;

export interface Attachments {
  readonly images: readonly JsonObject[];
  readonly error: string | undefined;
  readonly add: (files: Iterable<File>) => void;
  readonly remove: (image: JsonObject) => void;
  readonly clear: () => void;
}

export function useAttachments(): Attachments {
  const [images, setImages] = useState<readonly JsonObject[]>([]);
  const [error, setError] = useState<string>();
  const add = useCallback((files: Iterable<File>) => {
    setError(undefined);
    for (const file of files) {
      if (!file.type.startsWith("image/")) continue;
      import("./image-file.ts")
        .then(({ imageBlock }) => imageBlock(file))
        .then(
          (image) => setImages((before) => (before.length >= IMAGES_MAX ? before : [...before, image])),
          () => setError(`${file.name} could not be read as an image`),
        );
    }
  }, []);
  const remove = useCallback(
    (image: JsonObject) => setImages((before) => before.filter((other) => other !== image)),
    [],
  );
  const clear = useCallback(() => setImages([]), []);
  return { images, error, add, remove, clear };
}
