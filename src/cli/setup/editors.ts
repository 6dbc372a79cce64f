/** The editors we know: where their settings are and what an agent looks like in them. */
import { join } from "node:path";
import type { AgentEntry } from "./agent-entry.ts";
import type { JsonValue } from "./jsonc-insert.ts";

export interface EditorPlace {
  readonly platform: NodeJS.Platform;
  readonly home: string;
  readonly env: NodeJS.ProcessEnv;
}

export interface Editor {
  readonly title: string;
  /** For a person: where the text goes, and what to do then. */
  readonly where: string;
  /** What to paste. */
  snippet(entry: AgentEntry): string;
  /** Only for editors whose settings we write. */
  readonly settings?: {
    file(place: EditorPlace): string;
    /** The object that holds the agents. */
    readonly member: string;
    value(entry: AgentEntry): JsonValue;
  };
}

const plainValue = ({ command, args }: AgentEntry): JsonValue => ({ command, args });
const zedValue = ({ command, args }: AgentEntry): JsonValue => ({ type: "custom", command, args, env: {} });
const pretty = (value: JsonValue): string => `${JSON.stringify(value, undefined, 2)}\n`;

const configHome = ({ env, home }: EditorPlace): string => env["XDG_CONFIG_HOME"] || join(home, ".config");

const zed: Editor = {
  title: "Zed",
  where: "Into Zed's settings.json (zed: open settings file). The agent is then in the agent panel's + menu.",
  snippet: (entry) => pretty({ agent_servers: { [entry.name]: zedValue(entry) } }),
  settings: {
    // Zed uses ~/.config on macOS too, and there without XDG.
    file: (place) =>
      join(place.platform === "darwin" ? join(place.home, ".config") : configHome(place), "zed", "settings.json"),
    member: "agent_servers",
    value: zedValue,
  },
};

const jetbrains: Editor = {
  title: "JetBrains IDEs",
  where: "Into ~/.jetbrains/acp.json (AI chat, Add Custom Agent). The agent is then in the AI chat's agent menu.",
  snippet: (entry) => pretty({ agent_servers: { [entry.name]: plainValue(entry) } }),
  settings: {
    file: ({ home }) => join(home, ".jetbrains", "acp.json"),
    member: "agent_servers",
    value: plainValue,
  },
};

const vscode: Editor = {
  title: "VS Code",
  where: "Into the user settings.json, for the extension ACP Client (formulahendry.acp-client).",
  snippet: (entry) => pretty({ "acp.agents": { [entry.name]: plainValue(entry) } }),
};

const lua = (text: string): string => JSON.stringify(text);

const neovim: Editor = {
  title: "Neovim",
  where: "Into the setup of avante.nvim; other ACP plugins take the same command and arguments.",
  snippet: ({ name, command, args }) => `require("avante").setup({
  provider = ${lua(name)},
  acp_providers = {
    [${lua(name)}] = {
      command = ${lua(command)},
      args = { ${args.map(lua).join(", ")} },
    },
  },
})
`,
};

const other: Editor = {
  title: "any ACP editor",
  where: "The command and arguments of the agent, wherever your editor takes them.",
  snippet: (entry) => pretty(plainValue(entry)),
};

export const EDITORS: ReadonlyMap<string, Editor> = new Map([
  ["zed", zed],
  ["jetbrains", jetbrains],
  ["vscode", vscode],
  ["neovim", neovim],
  ["other", other],
]);
