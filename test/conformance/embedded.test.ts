/** The conformance suite on the embedded server, called in process. */
import { inProcess } from "./backends.ts"
import { conformance } from "./conformance.ts"

conformance(inProcess)
