package storage

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"smsdesk/internal/sms"
	"smsdesk/storage/query"
)

// The contacts of blockSize ids in a row are a block. For each column that has
// a value in it, the folded values of the block stand packed in one row of
// contact_block, so that a filter over a million people reads some hundred rows
// and none of the contacts. A change of a contact only marks its block as
// stale; what is stale is read from the contacts until PackContacts packs it
// again, so a filter never answers with what was.
const (
	blockSize = 4096
	// idsKey is where the ids of a block stand instead of values.
	idsKey = ""
)

func blockOf(id int64) int64 { return id / blockSize }

const (
	packedWords = 1 // different values, then a byte for each contact
	packedPlain = 2 // a value for each contact
	maxWords    = 256
)

// packIDs packs the ids of a block in order.
func packIDs(block int64, ids []int64) []byte {
	var b []byte
	last := block*blockSize - 1
	for _, id := range ids {
		b = binary.AppendUvarint(b, uint64(id-last))
		last = id
	}
	return b
}

var errPacked = errors.New("a packed column of contacts is damaged")

func unpackIDs(block int64, b []byte) ([]int64, error) {
	ids := make([]int64, 0, blockSize)
	last := block*blockSize - 1
	for len(b) > 0 {
		step, n := binary.Uvarint(b)
		if n <= 0 || len(ids) == blockSize {
			return nil, errPacked
		}
		last, b = last+int64(step), b[n:]
		ids = append(ids, last)
	}
	return ids, nil
}

func appendValue(b []byte, v string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(v))), v...)
}

func cutValue(b string) (v, rest string, err error) {
	size, n := uint64(0), 0
	for shift := 0; ; shift += 7 {
		if n >= len(b) || shift > 28 {
			return "", "", errPacked
		}
		c := b[n]
		n++
		size |= uint64(c&0x7f) << shift
		if c < 0x80 {
			break
		}
	}
	if size > uint64(len(b)-n) {
		return "", "", errPacked
	}
	return b[n : n+int(size)], b[n+int(size):], nil
}

// packValues packs the values of one column; nil when all are empty.
func packValues(values []string) []byte {
	words, at := []string{}, map[string]int{}
	filled := false
	for _, v := range values {
		filled = filled || v != ""
		if _, known := at[v]; !known && len(words) <= maxWords {
			at[v] = len(words)
			words = append(words, v)
		}
	}
	if !filled {
		return nil
	}
	if len(words) > maxWords {
		b := []byte{packedPlain}
		for _, v := range values {
			b = appendValue(b, v)
		}
		return b
	}
	b := binary.AppendUvarint([]byte{packedWords}, uint64(len(words)))
	for _, w := range words {
		b = appendValue(b, w)
	}
	for _, v := range values {
		b = append(b, byte(at[v]))
	}
	return b
}

// applyCondition applies a condition to the packed values of a block: with any it adds
// those that fit to in, else it takes the others out. A column that was not
// packed has only empty values.
func applyCondition(in []bool, body []byte, anyOf bool, fits func(string) bool) error {
	if body == nil {
		if none := fits(""); none == anyOf {
			for i := range in {
				in[i] = anyOf
			}
		}
		return nil
	}
	kind, b := body[0], string(body[1:])
	if kind != packedPlain {
		return narrowWords(in, b, anyOf, fits)
	}
	for i := range in {
		v, rest, err := cutValue(b)
		if err != nil {
			return err
		}
		if b = rest; in[i] != anyOf {
			in[i] = fits(v)
		}
	}
	return nil
}

func narrowWords(in []bool, b string, anyOf bool, fits func(string) bool) error {
	count, size := binary.Uvarint([]byte(b[:min(len(b), binary.MaxVarintLen64)]))
	if size <= 0 || count > maxWords {
		return errPacked
	}
	b = b[size:]
	known := make([]bool, count)
	for i := range known {
		v, rest, err := cutValue(b)
		if err != nil {
			return err
		}
		known[i], b = fits(v), rest
	}
	if len(b) != len(in) {
		return errPacked
	}
	for i := range len(b) {
		if int(b[i]) >= len(known) {
			return errPacked
		}
		if in[i] != anyOf {
			in[i] = known[b[i]]
		}
	}
	return nil
}

// packedBlock is what of one block a filter needs.
type packedBlock struct {
	block  int64
	n      int
	bodies map[string][]byte
}

// predicates are the conditions of a filter, made ready once.
type predicates struct {
	sms.Filter
	fits []func(string) bool
}

func newPredicates(f sms.Filter) predicates {
	m := predicates{Filter: f}
	for _, c := range f.Conditions {
		m.fits = append(m.fits, c.Matcher())
	}
	return m
}

// ids lists the contacts of the block that fit, the newest first.
func (p packedBlock) ids(f predicates) ([]int64, error) {
	anyOf := f.Any && !f.Everybody()
	in := make([]bool, p.n)
	for i := range in {
		in[i] = !anyOf
	}
	// What has few different values is asked first: the rest then has less to do.
	for _, plain := range []bool{false, true} {
		for i, c := range f.Conditions {
			body := p.bodies[c.Key]
			if plain != (len(body) > 0 && body[0] == packedPlain) {
				continue
			}
			// One look over all values is cheaper than one at each.
			if needle := c.Needle(); needle != "" && !bytes.Contains(body, []byte(needle)) {
				if !anyOf {
					return nil, nil
				}
				continue
			}
			if err := applyCondition(in, body, anyOf, f.fits[i]); err != nil {
				return nil, err
			}
		}
	}
	if !slices.Contains(in, true) {
		return nil, nil
	}
	ids, err := unpackIDs(p.block, p.bodies[idsKey])
	if err != nil || len(ids) != p.n {
		return nil, errors.Join(err, errPacked)
	}
	list := make([]int64, 0, len(ids))
	for i, id := range slices.Backward(ids) {
		if in[i] {
			list = append(list, id)
		}
	}
	return list, nil
}

// blocksQuery asks for the packed columns of the blocks of account $1 up to
// block $2, the newest first and in each the ids last.
func blocksQuery(keys int) string {
	return `select b.block, b.key, b.n, b.body, coalesce(s.block, -1) from contact_block b
left join contact_stale s on s.account_id = b.account_id and s.block = b.block
where b.account_id = $1 and b.block <= $2 and b.key in (` + places(3, keys) +
		`) order by b.account_id desc, b.block desc, b.key desc`
}

// matching gives the ids of an account's contacts that fit, in groups, the
// newest first, until do answers false.
func (db contactStore) matching(ctx context.Context, account, upTo int64, f sms.Filter,
	do func(ids []int64) bool) error {
	stale, err := db.read().StaleBlocks(ctx, account)
	if err != nil {
		return err
	}
	ready := newPredicates(f)
	stale = slices.DeleteFunc(stale, func(b int64) bool { return b > blockOf(upTo) })
	live := func(block int64) (bool, error) {
		ids, err := db.matchLive(ctx, account, block, f)
		return err == nil && do(ids), err
	}
	err = db.eachPacked(ctx, account, blockOf(upTo), f.Keys(), func(p packedBlock, isStale bool) (bool, error) {
		for len(stale) > 0 && stale[0] >= p.block {
			block := stale[0]
			stale = stale[1:]
			isStale = isStale && block != p.block
			if more, err := live(block); err != nil || !more {
				return false, err
			}
			if block == p.block {
				return true, nil
			}
		}
		if isStale {
			return live(p.block)
		}
		ids, err := p.ids(ready)
		return err == nil && do(ids), err
	})
	if errors.Is(err, errEnough) {
		return nil
	}
	for _, block := range stale {
		if more, bad := live(block); err != nil || bad != nil || !more {
			return errors.Join(err, bad)
		}
	}
	return err
}

// errEnough ends a walk over blocks early.
var errEnough = errors.New("enough")

func (db contactStore) eachPacked(ctx context.Context, account, upTo int64, keys []string,
	do func(packedBlock, bool) (bool, error)) (err error) {
	args := []any{account, upTo, idsKey}
	for _, k := range keys {
		args = append(args, k)
	}
	rows, err := db.reader.QueryContext(ctx, blocksQuery(len(keys)+1), args...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	p := packedBlock{bodies: map[string][]byte{}}
	for rows.Next() {
		var key string
		var body []byte
		var stale int64
		if err := rows.Scan(&p.block, &key, &p.n, &body, &stale); err != nil {
			return err
		}
		p.bodies[key] = body
		if key != idsKey {
			continue
		}
		more, err := do(p, stale >= 0)
		if err != nil {
			return err
		}
		if !more {
			return errEnough
		}
		p.bodies = map[string][]byte{}
	}
	return rows.Err()
}

// matchLive reads a block from the contacts themselves.
func (db contactStore) matchLive(ctx context.Context, account, block int64, f sms.Filter) (ids []int64, err error) {
	rows, err := db.read().ContactsOfBlock(ctx, account, block*blockSize, (block+1)*blockSize)
	if err != nil {
		return nil, err
	}
	for _, r := range slices.Backward(rows) {
		c, err := contact(r)
		if err != nil {
			return nil, err
		}
		if f.Match(c) {
			ids = append(ids, c.ID)
		}
	}
	return ids, nil
}

// blocksPerCall is how many blocks one call packs.
const blocksPerCall = 16

// PackContacts packs some of the blocks that are stale; more says that there
// are others.
func (db contactStore) PackContacts(ctx context.Context) (more bool, err error) {
	stale, err := db.read().SomeStale(ctx, blocksPerCall)
	if err != nil {
		return false, fmt.Errorf("list what is stale of the contacts: %w", err)
	}
	for _, s := range stale {
		if err := db.update(ctx, "pack contacts", func(t *tx) error {
			return (contactTx{t}).settleBlock(ctx, s.AccountID, s.Block)
		}); err != nil {
			return false, err
		}
	}
	return len(stale) == blocksPerCall, nil
}

func (t contactTx) settleBlock(ctx context.Context, account, block int64) error {
	rows, err := t.ContactsOfBlock(ctx, account, block*blockSize, (block+1)*blockSize)
	if err != nil {
		return err
	}
	if err := t.DeleteBlock(ctx, account, block); err != nil {
		return err
	}
	if _, err := t.DeleteStale(ctx, account, block); err != nil || len(rows) == 0 {
		return err
	}
	ids, columns := make([]int64, len(rows)), map[string][]string{}
	put := func(key, value string, i int) {
		if value == "" {
			return
		}
		if columns[key] == nil {
			columns[key] = make([]string, len(rows))
		}
		columns[key][i] = sms.FoldValue(value)
	}
	for i, r := range rows {
		c, err := contact(r)
		if err != nil {
			return err
		}
		ids[i] = c.ID
		put(sms.KeyName, c.Name, i)
		put(sms.KeyTag, c.Value(sms.KeyTag), i)
		for k, v := range c.Fields {
			put(k, v, i)
		}
	}
	if err := t.InsertBlock(ctx, query.InsertBlockParams{AccountID: account, Block: block, Key: idsKey, N: int64(len(ids)),
		Body: packIDs(block, ids)}); err != nil {
		return err
	}
	for key, values := range columns {
		body := packValues(values)
		if body == nil {
			continue
		}
		if err := t.InsertBlock(ctx, query.InsertBlockParams{AccountID: account, Block: block, Key: key, N: int64(len(ids)),
			Body: body}); err != nil {
			return err
		}
	}
	return nil
}
