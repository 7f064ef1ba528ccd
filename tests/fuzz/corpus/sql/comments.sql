SELECT /* one /* two */ */ a -- three
FROM t;