import { z } from 'zod';

const tableSchema = z.array(z.unknown()).min(1);

/**
 * Reads the text in which n8n hands out the data of an execution. It is a JSON array of all values;
 * inside objects and arrays a string stands for the place of a value in that array, so that a value
 * used twice is stored once.
 */
export function parseFlatted(text: string): unknown {
	const table = tableSchema.parse(JSON.parse(text));
	const read = new Map<number, unknown>();
	const valueOf = (reference: unknown): unknown =>
		typeof reference === 'string' ? valueAt(Number(reference)) : reference;
	const valueAt = (place: number): unknown => {
		const stored = table[place];
		if (typeof stored !== 'object' || stored === null) return stored;
		if (read.has(place)) return read.get(place);
		// Remembered before it is filled: a value may contain itself.
		if (Array.isArray(stored)) {
			const list: unknown[] = [];
			read.set(place, list);
			for (const reference of stored) list.push(valueOf(reference));
			return list;
		}
		const object: Record<string, unknown> = {};
		read.set(place, object);
		for (const [key, reference] of Object.entries(stored)) object[key] = valueOf(reference);
		return object;
	};
	return valueAt(0);
}
