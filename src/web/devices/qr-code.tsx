/** A QR code as SVG. Loaded when someone pairs another device. */
import { create } from "qrcode";
import type { ReactElement } from "react";

/** Quiet zone around the code, in modules: readers need it. */
const MARGIN = 2;

export function QrCode({ text }: { readonly text: string }): ReactElement {
  const { modules } = create(text, { errorCorrectionLevel: "M" });
  const { size, data } = modules;
  let path = "";
  for (let y = 0; y < size; y += 1) {
    for (let x = 0; x < size; x += 1) if (data[y * size + x]) path += `M${x + MARGIN} ${y + MARGIN}h1v1h-1z`;
  }
  const edge = size + 2 * MARGIN;
  return (
    <svg
      className="qr"
      viewBox={`0 0 ${edge} ${edge}`}
      role="img"
      aria-label="Pairing link as a QR code"
      shapeRendering="crispEdges"
    >
      <path d={path} fill="#000" />
    </svg>
  );
}
