import { isJsonObject } from '../../../nodes/DigitalSales/shared/json';

/** A name of a field as platforms write them. Others may be names of people, or hashes. */
const NAME = /^_?[a-z]+\d{0,2}([_-]?[A-Za-z]+\d{0,2}){0,5}$/;
/** Fields whose values are words of the platform, not of a person. */
const SPOKEN = /^(event|status|payment_status|method|payment_method|type|interval)$/;
const WORD = /^[a-z]+([_.-][a-z]+){0,3}$/;

/** The names and kinds in a body as JSON, with the first entry of each list. It shows no values but words of the platform. */
export function shapeOf(value: unknown): string {
	return value === undefined ? 'no JSON' : JSON.stringify(kindOf(value, ''));
}

function kindOf(value: unknown, name: string): unknown {
	if (Array.isArray(value)) return value.slice(0, 1).map((entry) => kindOf(entry, name));
	if (isJsonObject(value)) {
		const named = Object.entries(value).filter(([key]) => NAME.test(key));
		return Object.fromEntries(named.map(([key, inside]) => [key, kindOf(inside, key)]));
	}
	if (typeof value !== 'string') return value === null ? null : typeof value;
	return SPOKEN.test(name) && WORD.test(value) ? `text: ${value}` : 'text';
}
