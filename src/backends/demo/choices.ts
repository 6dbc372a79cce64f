/** What a person can choose in the demo: modes, one configuration option, slash commands. */
import type { AvailableCommand, SessionConfigOption, SessionMode } from "@agentclientprotocol/sdk";

export type ModeId = "ask" | "auto" | "plan";

export const MODES: (SessionMode & { id: ModeId })[] = [
  { id: "ask", name: "Ask", description: "Ask before every change" },
  { id: "auto", name: "Auto", description: "Change files without asking" },
  { id: "plan", name: "Plan", description: "Only say what would be done" },
];

export const isMode = (id: string): id is ModeId => MODES.some((mode) => mode.id === id);

export type Speed = "brisk" | "calm";

export const isSpeed = (value: unknown): value is Speed => value === "brisk" || value === "calm";

/** Multiplies every pause of the scenes. */
export const PACE_OF: Readonly<Record<Speed, number>> = { brisk: 1, calm: 3 };

export function configOptions(speed: Speed): SessionConfigOption[] {
  return [
    {
      type: "select",
      id: "speed",
      name: "Speed",
      description: "How fast the demo agent writes",
      category: "model_config",
      currentValue: speed,
      options: [
        { value: "brisk", name: "Brisk" },
        { value: "calm", name: "Calm" },
      ],
    },
  ];
}

/** A scene as a slash command. */
export function commandOf(scene: { readonly name: string; readonly help: string }): AvailableCommand {
  return { name: scene.name, description: scene.help };
}
