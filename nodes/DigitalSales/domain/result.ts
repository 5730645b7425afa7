/** What was read, or why it could not be read, in words that continue the name of the field. */
export type Result<T> = { value: T } | { problem: string };
