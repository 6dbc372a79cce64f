/** What should not happen by one tap wants two: the first arms the button, and the second has to come soon. */
import { useEffect, useState } from "react";

/** How long the second tap is waited for. */
const ARMED_MS = 4000;

export interface SecondTap {
  readonly isArmed: boolean;
  /** True when it is to happen now. */
  tap(): boolean;
}

/** `isWanted` false: the first tap counts. */
export function useSecondTap(isWanted: boolean): SecondTap {
  const [isArmed, setArmed] = useState(false);
  useEffect(() => {
    if (!isArmed) return;
    const timer = setTimeout(() => setArmed(false), ARMED_MS);
    return () => clearTimeout(timer);
  }, [isArmed]);
  return {
    isArmed,
    tap: () => {
      if (!isWanted || isArmed) return true;
      setArmed(true);
      return false;
    },
  };
}
