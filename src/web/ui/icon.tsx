/** Line icons, drawn here so that nothing is fetched. Decorative: the control around an icon carries the words. */
import type { ReactElement } from "react";

const PATHS = {
  alert: "M12 4 2.8 20h18.4zM12 10v4m0 3v.01",
  arrowDown: "M12 5v14m-6-6 6 6 6-6",
  arrowUp: "M12 19V5M6 11l6-6 6 6",
  back: "M15 5l-7 7 7 7",
  bell: "M6 16V11a6 6 0 1 1 12 0v5l1.5 2.5h-15zM10 21h4",
  bolt: "M13 3 5 14h6l-1 7 8-11h-6z",
  bulb: "M9 18h6m-5 3h4M8 14a6 6 0 1 1 8 0c-.7.7-1 1.300-1 2H9c0-.7-.3-1.300-1-2",
  check: "M5 12.500 10 17 19 7",
  checkAll: "M2 13l4 4 8-9m-3 8 1 1 9-10",
  chevron: "M9 6l6 6-6 6",
  clock: "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zm0-14v5l3.500 2",
  close: "M6 6l12 12M18 6 6 18",
  code: "M8 7l-5 5 5 5m8-10 5 5-5 5",
  copy: "M9 9h11v11H9zM5 15H4V4h11v1",
  devices: "M3 5h13v9H3zm5 13h5m-2.500-4v4M18 9h3v10h-5v-3",
  download: "M12 4v11m-5-5 5 5 5-5M4 20h16",
  edit: "M4 20l1-4L16 5l3 3L8 19zM14 7l3 3",
  eye: "M2 12s3.500-6.500 10-6.500S22 12 22 12s-3.500 6.500-10 6.500S2 12 2 12zm10 2.800a2.800 2.800 0 1 0 0-5.600 2.800 2.800 0 0 0 0 5.600z",
  file: "M6 3h8l4 4v14H6zM14 3v4h4",
  folder: "M3 6h6l2 2h10v11H3z",
  gear: "M4 7h10m4 0h2M4 17h2m4 0h10M16 9a2 2 0 1 0 0-4 2 2 0 0 0 0 4zM8 19a2 2 0 1 0 0-4 2 2 0 0 0 0 4z",
  globe:
    "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM3 12h18M12 3c3 3 3.500 6 3.500 9s-.5 6-3.500 9c-3-3-3.500-6-3.500-9S9 6 12 3z",
  hourglass: "M7 3h10M7 21h10M8 3c0 5 8 6 8 9s-8 4-8 9m8-18c0 5-8 6-8 9s8 4 8 9",
  image: "M4 5h16v14H4zm0 11 5-5 4 4 3-3 4 4M15 9.500v.01",
  info: "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zm0-10v6m0-9v.01",
  inbox: "M4 13 6 5h12l2 8v6H4zm0 0h5l1 2h4l1-2h5",
  link: "M10 14a4 4 0 0 0 6 0l3-3a4 4 0 0 0-6-6l-1 1m2 4a4 4 0 0 0-6 0l-3 3a4 4 0 0 0 6 6l1-1",
  list: "M9 6h11M9 12h11M9 18h11M4.500 6v.01M4.500 12v.01M4.500 18v.01",
  lock: "M6 11h12v9H6zm2 0V8a4 4 0 1 1 8 0v3",
  logout: "M10 4H5v16h5m4-12 4 4-4 4m4-4H9",
  more: "M12 6v.01M12 12v.01M12 18v.01",
  phone: "M7 3h10v18H7zm4 15h2",
  plus: "M12 5v14M5 12h14",
  pulse: "M3 12h4l2-6 4 12 3-9 1.500 3H21",
  question: "M9 9a3 3 0 1 1 4.500 2.600c-1 .6-1.500 1.200-1.500 2.400m0 3v.01M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18z",
  refresh: "M20 12a8 8 0 1 1-2.500-5.800M20 4v5h-5",
  search: "M11 18a7 7 0 1 0 0-14 7 7 0 0 0 0 14zm5-2 5 5",
  send: "M12 20V5m-6 6 6-6 6 6",
  shield: "M12 3l7 3v5c0 5-3 8-7 10-4-2-7-5-7-10V6z",
  shieldAll: "M12 3l7 3v5c0 5-3 8-7 10-4-2-7-5-7-10V6zM8.500 12l2.500 2.500L16 9.500",
  stop: "M7 7h10v10H7z",
  terminal: "M3 5h18v14H3zm4 4 3 3-3 3m5 0h4",
  tool: "M14 7a4 4 0 0 1 5-4l-2.500 2.500 2 2L21 5a4 4 0 0 1-5 5l-8 8a2 2 0 0 1-3-3l8-8z",
  trash: "M5 7h14M9 7V4h6v3m-8 0 1 13h8l1-13",
  unlink: "M10 14a4 4 0 0 0 6 0l1-1m-4-4a4 4 0 0 0-6 0l-1 1M4 4l16 16",
  users:
    "M9 11a3.500 3.500 0 1 0 0-7 3.500 3.500 0 0 0 0 7zm-7 9c0-4 3-6 7-6s7 2 7 6m0-15.500a3.500 3.500 0 0 1 0 6.500m2 3c2.500.8 4 2.800 4 6",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name, small = false }: { readonly name: IconName; readonly small?: boolean }): ReactElement {
  return (
    <svg className={small ? "icon s" : "icon"} viewBox="0 0 24 24" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}
