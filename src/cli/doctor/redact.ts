/** Reports are pasted into issues: no credential, no secret of the environment and no user name in a path leaves in one. */

const PATTERNS: readonly (readonly [RegExp, string])[] = [
  [/eyJ[\w-]{5,}\.[\w-]{5,}\.[\w-]{5,}/g, "[token]"],
  [/((?:token|ticket|secret|password|code|api[_-]?key|pair)=)[^\s&"'#]+/gi, "$1[redacted]"],
  [/(bearer[ .])[\w.~+/=-]{8,}/gi, "$1[redacted]"],
  [/(\/\/)[^/\s:@]+:[^/\s@]+@/g, "$1[redacted]@"],
];
const SECRET_NAME = /TOKEN|SECRET|PASSWORD|PASSWD|API_?KEY|CREDENTIAL/i;
/** A shorter value would be found inside innocent words. */
const SECRET_LENGTH_MIN = 8;

/** Makes a redactor for this environment. */
export function redactor(env: NodeJS.ProcessEnv, home: string): (text: string) => string {
  const secrets = Object.entries(env)
    .filter(([name, value]) => SECRET_NAME.test(name) && value !== undefined && value.length >= SECRET_LENGTH_MIN)
    .map(([, value]) => value ?? "")
    .sort((a, b) => b.length - a.length);
  return (text) => {
    let clean = text;
    for (const secret of secrets) clean = clean.replaceAll(secret, "[redacted]");
    for (const [pattern, by] of PATTERNS) clean = clean.replace(pattern, by);
    return home.length > 1 ? clean.replaceAll(home, "~") : clean;
  };
}
