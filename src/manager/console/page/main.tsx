/** The console's page: mounts it in its document. */
import { render } from "preact"
import { App } from "./App.tsx"
import { Connection } from "./model/Connection.ts"
import { Model } from "./model/Model.ts"
import { takeToken } from "./model/route.ts"
import { PageContext } from "./parts/hooks.ts"

const model = new Model()
const connection = new Connection(model, takeToken())

// The address with a token may be opened in a tab that shows the page already.
addEventListener("hashchange", () => {
  const token = takeToken()
  if (token !== undefined) connection.useToken(token)
})

// Ages and charts move on without messages. A hidden page has no frames, and so renders nothing.
setInterval(() => {
  if (document.visibilityState === "hidden") return
  if (connection.state.status === "open") model.tick()
  else model.touch("clock")
}, 1000)

const root = document.getElementById("app")
if (root !== null) {
  render(
    <PageContext.Provider value={{ model, connection }}>
      <App />
    </PageContext.Provider>,
    root
  )
}
