/** Types of authentication: written by scripts/schema-table.mjs, read by ../types.ts, which explains the notation. */
export const types = `
BoundObjectReference apiVersion:s kind:s name:s uid:s
SelfSubjectReview apiVersion:s kind:s metadata&:meta.ObjectMeta status&:SelfSubjectReviewStatus
SelfSubjectReviewStatus userInfo&:UserInfo
TokenRequest apiVersion:s kind:s metadata&:meta.ObjectMeta spec&:TokenRequestSpec status&:TokenRequestStatus
TokenRequestSpec audiences&:[]s boundObjectRef*&:BoundObjectReference expirationSeconds*&:l
TokenRequestStatus expirationTimestamp&:t token&:s
TokenReview apiVersion:s kind:s metadata&:meta.ObjectMeta spec!:TokenReviewSpec status&:TokenReviewStatus
TokenReviewSpec audiences:[]s token!:s
TokenReviewStatus audiences:[]s authenticated:b error:s user&:UserInfo
UserInfo extra:{}[]s groups:[]s uid:s username:s
`
