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
const answered = drawAnswer();
void answered.then(() => tabs?.prefetch());

// Parts are asked for when the answer is drawn: server and browser may share their CPUs.
document.addEventListener("htmx:confirm", (event) => {
  if (!(event.target instanceof Element && event.target.matches(".compare-part"))) return;
  event.preventDefault();
  const { issueRequest } = (event as CustomEvent<{ issueRequest: (isConfirmed: boolean) => void }>).detail;
  const ask = (): void => issueRequest(true);
  void answered.then(ask, ask);
});
