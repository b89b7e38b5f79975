// Package sweep measures engines x options x scales x repeats, one run folder for each combination, into a store that
// several processes may write at once. sweep.go says what a sweep is and in which order its cells come, cell.go what
// makes two cells the same, store.go who measures which, prepare.go what is known before the first one is measured,
// estimate.go how long it will take, and run.go measures.
package sweep
