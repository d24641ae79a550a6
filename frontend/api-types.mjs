// Writes src/api/types.gen.ts from the OpenAPI schema of the server and of the data that pages embed; --check: fails when that file is not current.
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { argv } from "node:process";
import { fileURLToPath, URL } from "node:url";

import openapiTS, { astToString } from "openapi-typescript";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const FILE = new URL("src/api/types.gen.ts", import.meta.url);

const GENERATOR = "apps.web.page_types.FrontEndSchemaGenerator";

const command = ["spectacular", "--format", "openapi-json", "--generator-class", GENERATOR, "--fail-on-warn"];
const schema = execFileSync(".venv/bin/python", ["manage.py", ...command], {
  cwd: ROOT,
  maxBuffer: 64 * 2 ** 20,
  stdio: ["ignore", "pipe", "inherit"],
});
// Without texts, so that a better word changes no type; without paths, of which pages name their own.
const { openapi, info, components } = JSON.parse(schema, (name, value) =>
  name === "description" && typeof value === "string" ? undefined : value,
);
const options = { rootTypes: true, rootTypesNoSchemaPrefix: true };
const types = `// Generated: \`make types\`.\n${astToString(await openapiTS({ openapi, info, paths: {}, components }, options))}`;

if (!argv.includes("--check")) writeFileSync(FILE, types);
else if (readFileSync(FILE, "utf8") !== types) throw new Error("types.gen.ts is not the API's: run `make types`");
