/** The conformance suite on a real kube-apiserver, from the folder that `KUBEBUILDER_ASSETS` names: it says what the truth is. */
import { real } from "./backends.ts"
import { conformance } from "./conformance.ts"

conformance(real)
