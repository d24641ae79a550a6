// Watched series and their thresholds: the server draws the charts; here each can be saved as it stands.
import "../../styles/published.css";
import "../../styles/trends.css";
import { saveButtons } from "../../charts/still";

saveButtons();
