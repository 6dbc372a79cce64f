/** Rights as people and the HTTP API write them: a preset's name, or scopes with spaces or commas between. */
import { isPreset, isScope, PRESETS, type Preset, type Scope } from "./scopes.ts";

/** The scopes meant; undefined when one of the words is none. Never empty. */
export function scopesFromText(text: string): readonly Scope[] | undefined {
  const words = text.split(/[\s,]+/).filter((word) => word !== "");
  const scopes = words.flatMap((word): readonly (Scope | undefined)[] => {
    if (isPreset(word)) return PRESETS[word];
    return [isScope(word) ? word : undefined];
  });
  const known = scopes.filter((scope) => scope !== undefined);
  return known.length > 0 && known.length === scopes.length ? [...new Set(known)] : undefined;
}

/** The preset that is exactly these scopes, else their names. */
export function scopesToText(scopes: Iterable<Scope>): string {
  const set = new Set(scopes);
  const isExactly = (preset: Preset): boolean =>
    PRESETS[preset].length === set.size && PRESETS[preset].every((scope) => set.has(scope));
  const names: readonly Preset[] = ["owner", "driver", "approver", "viewer"];
  return names.find(isExactly) ?? [...set].join(" ");
}
