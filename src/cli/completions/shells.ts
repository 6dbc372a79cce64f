/** Completion scripts of the three shells, complete in themselves: completing a word starts no process. */
import type { CommandWords } from "./words.ts";

export const SHELLS = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof SHELLS)[number];

export function completionScript(shell: Shell, commands: readonly CommandWords[]): string {
  switch (shell) {
    case "bash":
      return bash(commands);
    case "zsh":
      return zsh(commands);
    case "fish":
      return fish(commands);
  }
}

const HEAD = (line: string): string => `# Completion of acp-hub. ${line}\n`;
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

function valueCases({ values }: CommandWords, indent: string, reply: (list: string) => string): string {
  return [...values].map(([option, list]) => `${indent}${option}) ${reply(list.join(" "))}; return ;;\n`).join("");
}

function bash(commands: readonly CommandWords[]): string {
  const cases = commands.map((each) => {
    const values = valueCases(each, "        ", (list) => `COMPREPLY=($(compgen -W '${list}' -- "$cur"))`);
    const inner = values === "" ? "" : `      case "$prev" in\n${values}      esac\n`;
    const first = each.verbs.length === 0 ? "" : `      [ "$COMP_CWORD" -eq 2 ] && words='${each.verbs.join(" ")} '\n`;
    return `    ${each.name})\n${inner}${first}      words="$words${each.options.join(" ")}" ;;\n`;
  });
  return `${HEAD("Into ~/.bashrc: source <(acp-hub completions bash)")}_acp_hub() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" prev="\${COMP_WORDS[COMP_CWORD-1]}" words='' word
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W '${commands.map((each) => each.name).join(" ")} help --version --help' -- "$cur"))
    return
  fi
  # What follows -- is the agent's.
  for word in "\${COMP_WORDS[@]:2:COMP_CWORD-2}"; do [ "$word" = -- ] && return; done
  case "\${COMP_WORDS[1]}" in
${cases.join("")}  esac
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -o default -F _acp_hub acp-hub
`;
}

function zsh(commands: readonly CommandWords[]): string {
  const cases = commands.map((each) => {
    const values = valueCases(each, "        ", (list) => `compadd -- ${list}`);
    const inner = values === "" ? "" : `      case "\${words[CURRENT-1]}" in\n${values}      esac\n`;
    const first = each.verbs.length === 0 ? "" : `      (( CURRENT == 3 )) && compadd -- ${each.verbs.join(" ")}\n`;
    return `    ${each.name})\n${inner}${first}      compadd -- ${each.options.join(" ")} ;;\n`;
  });
  const list = commands.map(({ name, summary }) => `    ${quoted(`${name}:${summary.replaceAll(":", "\\:")}`)}\n`);
  return `#compdef acp-hub
${HEAD("Into ~/.zshrc, after compinit: source <(acp-hub completions zsh)")}_acp_hub() {
  local -a commands
  commands=(
${list.join("")}  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  # What follows -- is the agent's.
  if (( \${words[(ie)--]} < CURRENT )); then
    _files
    return
  fi
  case "\${words[2]}" in
${cases.join("")}  esac
  [[ "\${words[CURRENT]}" == -* ]] || _files
}
if [[ "\${funcstack[1]}" == _acp_hub || "\${funcstack[1]}" == _acp-hub ]]; then
  _acp_hub "$@"
else
  compdef _acp_hub acp-hub
fi
`;
}

function fish(commands: readonly CommandWords[]): string {
  const lines = commands.flatMap(({ name, summary, verbs, options, values }) => {
    const after = `-n ${quoted(`__fish_seen_subcommand_from ${name}`)}`;
    const first = `-n ${quoted(`__fish_seen_subcommand_from ${name}; and test (count (commandline -opc)) -eq 2`)}`;
    return [
      `complete -c acp-hub -f -n __fish_use_subcommand -a ${name} -d ${quoted(summary)}`,
      ...(verbs.length === 0 ? [] : [`complete -c acp-hub -f ${first} -a ${quoted(verbs.join(" "))}`]),
      ...options.map((option) => {
        const list = values.get(option);
        const kind = option.startsWith("--") ? `-l ${option.slice(2)}` : `-s ${option.slice(1)}`;
        return `complete -c acp-hub ${after} ${kind}${list === undefined ? "" : ` -x -a ${quoted(list.join(" "))}`}`;
      }),
    ];
  });
  return `${HEAD("Into ~/.config/fish/config.fish: acp-hub completions fish | source")}${lines.join("\n")}\n`;
}
