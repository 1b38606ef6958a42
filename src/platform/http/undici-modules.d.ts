// The package's index also loads fetch, caches, WebSockets and mocks: 35 ms and 9 MB that a client of one server does not use.
declare module "undici/lib/dispatcher/agent.js" {
  import type { Agent } from "undici"
  const agent: typeof Agent
  export default agent
}

declare module "undici/lib/core/connect.js" {
  import type { buildConnector } from "undici"
  const make: typeof buildConnector
  export default make
}
