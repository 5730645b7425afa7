/** What a process knows of a node's entries in n8n's table of processed items. */
export interface LedgerRow {
	/** Entries made since those in doubt were entered anew. */
	entered: number;
	/** Keys of attempts whose outcome is not known. */
	doubts: Set<string>;
	/** Keys that are to be taken out, where n8n's database did not take that. */
	leftover: Set<string>;
}
