/** An object without the keys whose value is undefined or an empty list. */
export function withoutBlanks<T extends object>(values: T): { [K in keyof T]?: NonNullable<T[K]> } {
	const given: { [K in keyof T]?: NonNullable<T[K]> } = {};
	for (const key in values) {
		const value = values[key];
		if (value === undefined || value === null) continue;
		if (Array.isArray(value) && value.length === 0) continue;
		given[key] = value;
	}
	return given;
}
