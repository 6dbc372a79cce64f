/** Scenes of what clients get wrong: updates after the turn, and a turn that fails. */
import { RequestError } from "@agentclientprotocol/sdk";
import type { Scene } from "./scene.ts";

export const fail: Scene = {
  name: "fail",
  words: ["fail"],
  help: "The turn ends with an error",
  async play(turn) {
    await turn.say("Now the model stops answering.");
    throw new RequestError(-32603, "The demo model is overloaded");
  },
};

export const later: Scene = {
  name: "later",
  words: ["later", "background"],
  help: "Ends its turn and reports back after it",
  async play(turn) {
    await turn.say("I look after that in the background and tell you when it is done.");
    turn.sequel = async (sequel) => {
      await sequel.pause(4000);
      await sequel.say("The background work is done.");
    };
  },
};
