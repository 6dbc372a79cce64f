/** Which screen is shown, and the way to another. */
import { Observable } from "../../client/index.ts";
import { hrefOf, parseRoute, type Route } from "./route.ts";

export class Router {
  readonly route: Observable<Route> = new Observable<Route>(parseRoute(location.hash));

  constructor() {
    window.addEventListener("hashchange", () => this.route.set(parseRoute(location.hash)));
  }

  go(route: Route): void {
    location.hash = hrefOf(route);
  }

  /** Changes the screen without a step to go back to: a used pairing code must not stay in the history. */
  replace(route: Route): void {
    history.replaceState(null, "", hrefOf(route));
    this.route.set(route);
  }
}
