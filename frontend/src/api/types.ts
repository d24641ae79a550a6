// Responses of the REST API by their name in its schema.
import type { components } from "./types.gen";

export type Schemas = components["schemas"];
