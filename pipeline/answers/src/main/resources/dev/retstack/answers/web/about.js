// The first question. It is asked while the browser still fetches the other modules.
import { ask } from "./api.js";

/** What is asked here, or why nobody knows. */
export const first = ask("/about");

first.catch(() => {}); // app.js looks at it when all modules are there
