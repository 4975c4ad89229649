package skipstone;

/** Marks an index that skipstone has already pruned. */
public interface PrunedIndex {}
