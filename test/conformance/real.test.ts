/** The conformance suite on a real kube-apiserver from the folder `KUBEBUILDER_ASSETS`: the reference for the other back ends. */
import { real } from "./backends.ts"
import { conformance } from "./conformance.ts"

conformance(real)
