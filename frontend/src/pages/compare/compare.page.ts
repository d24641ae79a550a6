// The Compare page: the charts of the answer, and its tabs.
import "../../styles/compare/answer.css";
import "../../styles/compare/compare.css";
import "../../styles/compare/comparability.css";
import "../../styles/saved.css";
import "../../styles/compare/claims.css";
import { mountParts } from "./parts";
import { Tabs } from "../../page/tabs";
import { drawAnswer } from "./answer";

mountParts();
const nav = document.querySelector<HTMLElement>("[data-tabs]");
const tabs = nav && new Tabs(nav);
tabs?.mount();
void drawAnswer().then(() => tabs?.prefetch());
