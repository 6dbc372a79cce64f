/** Which of two versions is the newer, as semantic versioning orders them (semver.org, section 11). */
import gt from "semver/functions/gt.js";
import valid from "semver/functions/valid.js";

/** False for equal ones, and when either is no semantic version: what cannot be compared is not newer. */
export function isNewerVersion(candidate: string, than: string): boolean {
  return valid(candidate) !== null && valid(than) !== null && gt(candidate, than);
}
