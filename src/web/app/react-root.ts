/** React by a name of our own: the entry has it read early. */
export { createRoot } from "react-dom/client";
