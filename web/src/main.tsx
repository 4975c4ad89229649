import { render } from "preact";
import { App } from "./app";
import { parseRoute } from "./route";
import { connect, route } from "./state/store";
import "./style/base.css";
import "./style/shell.css";
import "./style/parts.css";
import "./style/block_map.css";

addEventListener("hashchange", () => {
  route.value = parseRoute(location.hash);
});
render(<App />, document.getElementById("page")!);
void connect();
