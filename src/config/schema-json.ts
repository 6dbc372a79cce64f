/** Writes `config/acp-hub.schema.json` from the schema. A test fails when the file is not what this writes. */
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { jsonSchema } from "./schema.ts";

export const configSchemaText = (): string => `${JSON.stringify(jsonSchema(), null, 2)}\n`;

const target = fileURLToPath(new URL("../../config/acp-hub.schema.json", import.meta.url));

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(target, configSchemaText());
