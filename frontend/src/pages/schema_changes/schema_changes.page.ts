// The page of schema changes: its charts are drawn by the server; here each can be saved as it stands on the screen.
import "../../styles/published.css";
import "../../styles/schema_changes.css";
import { saveButtons } from "../../charts/still";

saveButtons();
