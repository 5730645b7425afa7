/** `npm test -- thorough` runs the long form of races, models and tables. */
export const isThorough = process.env.SUITE === 'thorough';

/** The number of sequences of a model, or of seeds of a race. `MODEL_RUNS` overrides it. */
export function sequences(inShort: number, inLong = 12): number {
	return Number(process.env.MODEL_RUNS ?? (isThorough ? inLong : inShort));
}

/** The rows of a table. `npm test` takes a few of a long one. */
export function rowsOf<T>(table: T[], oneIn = 5): T[] {
	return isThorough || table.length <= 40 ? table : table.filter((_, at) => at % oneIn === 0);
}
