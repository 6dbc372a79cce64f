/** Images chosen, photographed or pasted, for the message that is written. */
import { useCallback, useState } from "react";
import type { ChangeDraft } from "./use-draft.ts";

const IMAGES_MAX = 8;

export interface Attachments {
  readonly error: string | undefined;
  readonly add: (files: Iterable<File>) => void;
}

export function useAttachments(change: ChangeDraft): Attachments {
  const [error, setError] = useState<string>();
  const add = useCallback(
    (files: Iterable<File>) => {
      setError(undefined);
      for (const file of files) {
        if (!file.type.startsWith("image/")) continue;
        import("./image-file.ts")
          .then(({ imageBlock }) => imageBlock(file))
          .then(
            (image) =>
              change(({ images }) => {
                if (images.length < IMAGES_MAX) return { images: [...images, image] };
                setError(`A message takes ${IMAGES_MAX} images at most`);
                return {};
              }),
            () => setError(`${file.name} could not be read as an image`),
          );
      }
    },
    [change],
  );
  return { error, add };
}
