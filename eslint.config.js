// Only what Biome cannot be trusted with: type-aware promise and exhaustiveness rules, sizes, and the purity of the core.
import tseslint from "typescript-eslint";

const IMPURE = "The core is pure: time comes in as `now`, timers go out as effects, ids and randomness come in.";

export default tseslint.config(
  { ignores: ["dist/**", "coverage/**", "test/fixtures/**"] },
  {
    files: ["src/**/*.{ts,tsx}", "test/**/*.{ts,tsx}"],
    languageOptions: {
      parser: tseslint.parser,
      parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname },
    },
    plugins: { "@typescript-eslint": tseslint.plugin },
    linterOptions: { reportUnusedDisableDirectives: "error" },
    rules: {
      "@typescript-eslint/no-floating-promises": "error",
      "@typescript-eslint/no-misused-promises": "error",
      "@typescript-eslint/switch-exhaustiveness-check": [
        "error",
        { considerDefaultExhaustiveForUnions: true, requireDefaultForNonUnion: false },
      ],
      "max-lines": ["error", { max: 400, skipBlankLines: true, skipComments: true }],
    },
  },
  {
    files: ["test/**/*.mjs"],
    linterOptions: { reportUnusedDisableDirectives: "error" },
    rules: {
      "max-lines": ["error", { max: 250, skipBlankLines: true, skipComments: true }],
      "max-lines-per-function": ["error", { max: 80, skipBlankLines: true, skipComments: true }],
      "no-unused-vars": "error",
      "no-unreachable": "error",
    },
  },
  {
    files: ["src/**/*.{ts,tsx}"],
    rules: { "max-lines-per-function": ["error", { max: 80, skipBlankLines: true, skipComments: true }] },
  },
  {
    files: ["src/core/**/*.ts"],
    rules: {
      "no-restricted-globals": [
        "error",
        ...["setTimeout", "setInterval", "setImmediate", "queueMicrotask", "performance", "crypto", "process"].map(
          (name) => ({ name, message: IMPURE }),
        ),
      ],
      "no-restricted-properties": [
        "error",
        { object: "Date", property: "now", message: IMPURE },
        { object: "Math", property: "random", message: IMPURE },
        { object: "globalThis", message: IMPURE },
      ],
      "no-restricted-syntax": [
        "error",
        // `new Date(ms)` only formats and stays allowed.
        { selector: "NewExpression[callee.name='Date'][arguments.length=0]", message: IMPURE },
        { selector: "CallExpression[callee.name='Date']", message: IMPURE },
      ],
    },
  },
);
