/** Types of admissionregistration: written by scripts/schema-table.mjs, read by ../types.ts, which explains the notation. */
export const types = `
AuditAnnotation key!:s valueExpression!:s
ExpressionWarning fieldRef!:s warning!:s
MatchCondition expression!:s name!:s
MatchResources@ excludeResourceRules:[]NamedRuleWithOperations matchPolicy*:s namespaceSelector:meta.LabelSelector objectSelector:meta.LabelSelector resourceRules:[]NamedRuleWithOperations
MutatingWebhook admissionReviewVersions!:[]s clientConfig!:WebhookClientConfig failurePolicy*:s matchConditions:[name]MatchCondition~name matchPolicy*:s name!:s namespaceSelector:meta.LabelSelector objectSelector:meta.LabelSelector reinvocationPolicy*:s rules:[]RuleWithOperations sideEffects!*:s timeoutSeconds*:i
MutatingWebhookConfiguration apiVersion:s kind:s metadata&:meta.ObjectMeta webhooks:[name]MutatingWebhook~name
NamedRuleWithOperations@ apiGroups:[]s apiVersions:[]s operations:[]s resourceNames:[]s resources:[]s scope*:s
ParamKind@ apiVersion:s kind:s
ParamRef@ name:s namespace:s parameterNotFoundAction*:s selector:meta.LabelSelector
RuleWithOperations apiGroups:[]s apiVersions:[]s operations:[]s resources:[]s scope*:s
ServiceReference name!:s namespace!:s path*:s port*:i
TypeChecking expressionWarnings:[]ExpressionWarning
ValidatingAdmissionPolicy apiVersion:s kind:s metadata&:meta.ObjectMeta spec&:ValidatingAdmissionPolicySpec status&:ValidatingAdmissionPolicyStatus
ValidatingAdmissionPolicyBinding apiVersion:s kind:s metadata&:meta.ObjectMeta spec!:ValidatingAdmissionPolicyBindingSpec
ValidatingAdmissionPolicyBindingSpec matchResources:MatchResources paramRef:ParamRef policyName!:s validationActions!:[]s
ValidatingAdmissionPolicySpec auditAnnotations:[]AuditAnnotation failurePolicy*:s matchConditions:[name]MatchCondition~name matchConstraints:MatchResources paramKind:ParamKind validations:[]Validation variables:[name]Variable~name
ValidatingAdmissionPolicyStatus conditions:[type]meta.Condition observedGeneration:l typeChecking:TypeChecking
ValidatingWebhook admissionReviewVersions!:[]s clientConfig!:WebhookClientConfig failurePolicy*:s matchConditions:[name]MatchCondition~name matchPolicy*:s name!:s namespaceSelector:meta.LabelSelector objectSelector:meta.LabelSelector rules:[]RuleWithOperations sideEffects!*:s timeoutSeconds*:i
ValidatingWebhookConfiguration apiVersion:s kind:s metadata&:meta.ObjectMeta webhooks:[name]ValidatingWebhook~name
Validation expression!:s message:s messageExpression:s reason*:s
Variable@ expression!:s name!:s
WebhookClientConfig caBundle:y service:ServiceReference url*:s
`
