// Package platform holds no code: below it are the small packages that know nothing of this product.
// Its test is the import rule of the whole program (docs/architecture.md), kept where nothing is
// imported, so that it runs even when the tree does not compile.
package platform
