// The page of a run's server variables by themselves.
import { mountVariables } from "./variables";

mountVariables();
